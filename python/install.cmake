# What a wheel holds beside Python code: the extension, the one shared library that it and everything else in the process
# use, and what programs need that are compiled against that library.
#
# Those use the C interface alone: the compiler of a wheel may have another C++ standard library than theirs.
install(TARGETS _core LIBRARY DESTINATION backslice COMPONENT python)

# The page that `backslice explore` opens, where `make explorer` has built it; source packages carry it along.
install(FILES ${PROJECT_SOURCE_DIR}/build/explorer/slice_explorer.html DESTINATION backslice/explorer COMPONENT python OPTIONAL)

if(NOT BACKSLICE_SANITIZE)
  # A wheel has no symbolic links, so the library has one name: the one that programs load it by.
  set_target_properties(${BACKSLICE_SHARED_LIBRARY} PROPERTIES VERSION ${BACKSLICE_ABI_VERSION})
  install(TARGETS ${BACKSLICE_SHARED_LIBRARY} LIBRARY DESTINATION backslice/lib COMPONENT python NAMELINK_SKIP)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/backslice/c DESTINATION backslice/include/backslice COMPONENT python)

  include(CMakePackageConfigHelpers)
  set(package_dir backslice/lib/cmake/backslice)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/wheel-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/backslice-config.cmake @ONLY)
  write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/backslice-config-version.cmake
    VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/backslice-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/backslice-config-version.cmake
    DESTINATION ${package_dir} COMPONENT python)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/components.cmake DESTINATION ${package_dir} RENAME backslice-components.cmake
    COMPONENT python)
endif()
