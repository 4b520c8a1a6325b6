# The install tree: headers, the library, and the files for find_package(backslice) and pkg-config.
include(CMakePackageConfigHelpers)

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/backslice)

install(TARGETS backslice backslice_c EXPORT backslice-targets
  LIBRARY COMPONENT runtime NAMELINK_COMPONENT library
  ARCHIVE COMPONENT library)
install(DIRECTORY include/backslice DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
install(EXPORT backslice-targets NAMESPACE backslice:: DESTINATION ${config_dir} COMPONENT library)

# Programs that link a static library must also link its dependencies; a shared library brings them along.
set(BACKSLICE_STATIC_PACKAGES "")
set(BACKSLICE_PC_REQUIRES "")
set(BACKSLICE_PC_LIBS "")
if(NOT BUILD_SHARED_LIBS)
  list(TRANSFORM BACKSLICE_CXX_RUNTIME PREPEND "-l")
  list(JOIN BACKSLICE_CXX_RUNTIME " " BACKSLICE_PC_LIBS)
  string(APPEND BACKSLICE_PC_LIBS " -pthread")
  set(BACKSLICE_STATIC_PACKAGES Threads)
  if(NOT BACKSLICE_HIGHWAY_SOURCE)
    list(APPEND BACKSLICE_STATIC_PACKAGES hwy)
    string(APPEND BACKSLICE_PC_REQUIRES "libhwy")
  endif()
  if(BACKSLICE_CUDA)
    list(APPEND BACKSLICE_STATIC_PACKAGES CUDAToolkit)
    cmake_path(GET CUDA_cudart_static_LIBRARY PARENT_PATH cudart_folder)
    string(APPEND BACKSLICE_PC_LIBS " -L${cudart_folder} -lcudart_static -ldl -lrt")
  endif()
  if(BACKSLICE_EXECUTOR STREQUAL "tbb")
    list(APPEND BACKSLICE_STATIC_PACKAGES TBB)
    string(APPEND BACKSLICE_PC_REQUIRES " tbb")
  endif()
endif()

configure_package_config_file(cmake/backslice-config.cmake.in ${PROJECT_BINARY_DIR}/backslice-config.cmake
  INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/backslice-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/backslice-config.cmake ${PROJECT_BINARY_DIR}/backslice-config-version.cmake
  DESTINATION ${config_dir} COMPONENT library)
install(FILES cmake/components.cmake DESTINATION ${config_dir} RENAME backslice-components.cmake COMPONENT library)

# The prefix is found from the file's own path, so that the tree can be moved.
file(RELATIVE_PATH BACKSLICE_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/backslice.pc.in ${PROJECT_BINARY_DIR}/backslice.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/backslice.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)

if(PROJECT_IS_TOP_LEVEL)
  include(cmake/debian_package.cmake)
endif()
