# The shared library. Its SOVERSION is the version of the C interface, through which every language but C++ loads it.
# symbols.map.in lists the symbols of the C++ API.
file(STRINGS include/backslice/c/base.h abi_version_line REGEX "define BACKSLICE_ABI_VERSION")
string(REGEX MATCH "[0-9]+" BACKSLICE_ABI_VERSION "${abi_version_line}")

set(BACKSLICE_SYMBOLS ${PROJECT_BINARY_DIR}/symbols.map)
configure_file(cmake/symbols.map.in ${BACKSLICE_SYMBOLS} @ONLY)

function(backslice_present_as_shared_library target)
  # LINKER:... does not work: zig does not accept -Xlinker.
  target_link_options(${target} PRIVATE -Wl,--version-script=${BACKSLICE_SYMBOLS})
  # dlclose keeps the library in memory, since its threads and exit handlers still run.
  target_link_options(${target} PRIVATE -Wl,-z,nodelete)
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME backslice
    SOVERSION ${BACKSLICE_ABI_VERSION}
    LINK_DEPENDS ${BACKSLICE_SYMBOLS})
endfunction()

# Sets BACKSLICE_SHARED_LIBRARY to the target of the shared library. If `backslice` is static, that is a second target
# of the same objects. So tests (which need the static one) and the extension module compile them once.
function(backslice_add_shared_library)
  if(BUILD_SHARED_LIBS)
    backslice_present_as_shared_library(backslice)
    set(BACKSLICE_SHARED_LIBRARY backslice PARENT_SCOPE)
    return()
  endif()
  set(empty ${PROJECT_BINARY_DIR}/empty.cc)
  file(CONFIGURE OUTPUT ${empty} CONTENT "")
  add_library(backslice_shared SHARED ${empty})
  if(NOT BACKSLICE_BUILD_TESTS)
    set_target_properties(backslice_shared PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  target_include_directories(backslice_shared INTERFACE ${PROJECT_SOURCE_DIR}/include)
  target_compile_features(backslice_shared INTERFACE cxx_std_20)
  target_link_libraries(backslice_shared PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,backslice>)
  backslice_present_as_shared_library(backslice_shared)
  set(BACKSLICE_SHARED_LIBRARY backslice_shared PARENT_SCOPE)
endfunction()
