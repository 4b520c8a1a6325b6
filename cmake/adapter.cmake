# backslice_add_adapter(NAME SOURCES...) makes libbackslice_NAME.so, which a framework loads. It is installed into the Python
# package backslice.NAME. The target `adapters` builds all of them; a build of everything does so only for packages.
function(backslice_add_adapter name)
  set(target backslice_${name})
  add_library(${target} MODULE ${ARGN})
  if(NOT SKBUILD)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  add_dependencies(adapters ${target})
  target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src/core/boundary.cc)  # python/CMakeLists.txt says why
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE ${BACKSLICE_SHARED_LIBRARY})
  target_compile_options(${target} PRIVATE ${BACKSLICE_WARNINGS} -Wpedantic -Wshadow -Wconversion)
  if(NOT BACKSLICE_SANITIZE)  # the sanitizer's functions are in the program that loads it
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  set_target_properties(${target} PROPERTIES
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    INSTALL_RPATH "$ORIGIN/../lib")  # the folder of libbackslice.so
  install(TARGETS ${target} LIBRARY DESTINATION backslice/${name} COMPONENT adapters EXCLUDE_FROM_ALL)
endfunction()
