# backslice_add_adapter(NAME SOURCES...) makes libbackslice_NAME.so, which a framework loads, and which is installed into
# the Python package backslice.NAME.
function(backslice_add_adapter name)
  set(target backslice_${name})
  add_library(${target} MODULE ${ARGN})
  if(BUILD_SHARED_LIBS)  # python/CMakeLists.txt says why
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src/core/boundary.cc)
  endif()
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE backslice)
  target_compile_options(${target} PRIVATE ${BACKSLICE_WARNINGS} -Wpedantic -Wshadow -Wconversion)
  if(NOT BACKSLICE_SANITIZE)  # whose functions are in the program that loads it
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  set_target_properties(${target} PROPERTIES
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    INSTALL_RPATH "$ORIGIN/../lib")  # where libbackslice.so is, if it is a library of its own
  install(TARGETS ${target} LIBRARY DESTINATION backslice/${name} COMPONENT python)
endfunction()
