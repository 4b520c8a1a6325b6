# How the shared library presents itself. Its SOVERSION is the version of the C interface, by which every language but C++
# loads it; symbols.map.in says what C++ programs hold on to.
file(STRINGS include/backslice/c/base.h abi_version_line REGEX "define BACKSLICE_ABI_VERSION")
string(REGEX MATCH "[0-9]+" BACKSLICE_ABI_VERSION "${abi_version_line}")

set(BACKSLICE_SYMBOLS ${PROJECT_BINARY_DIR}/symbols.map)
configure_file(cmake/symbols.map.in ${BACKSLICE_SYMBOLS} @ONLY)

function(backslice_present_as_shared_library target)
  # Not as LINKER:..., which zig does not take from -Xlinker.
  target_link_options(${target} PRIVATE -Wl,--version-script=${BACKSLICE_SYMBOLS})
  # Whoever unloads it leaves its threads, and what it asked the system to call at exit.
  target_link_options(${target} PRIVATE -Wl,-z,nodelete)
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME backslice
    SOVERSION ${BACKSLICE_ABI_VERSION}
    LINK_DEPENDS ${BACKSLICE_SYMBOLS})
endfunction()
