# The install tree: headers, the library, and what find_package(backslice) reads.
include(CMakePackageConfigHelpers)

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/backslice)

install(TARGETS backslice EXPORT backslice-targets)
install(DIRECTORY include/backslice DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT backslice-targets NAMESPACE backslice:: DESTINATION ${config_dir})

configure_package_config_file(cmake/backslice-config.cmake.in ${PROJECT_BINARY_DIR}/backslice-config.cmake
  INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/backslice-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/backslice-config.cmake ${PROJECT_BINARY_DIR}/backslice-config-version.cmake
  DESTINATION ${config_dir})
