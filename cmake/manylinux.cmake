# Compiles for any Linux with glibc 2.28 or newer, with zig, which brings that glibc's symbols and a C++ library to link in.
# BACKSLICE_ZIG in the environment is the zig to use; tools/build_wheel.py sets it.
set(CMAKE_C_COMPILER ${CMAKE_CURRENT_LIST_DIR}/../tools/zig-cc)
set(CMAKE_CXX_COMPILER ${CMAKE_CURRENT_LIST_DIR}/../tools/zig-c++)

# zig does not use 512-bit vectors in AVX-512 code unless asked, and Highway 1.0 only asks for AVX-512. The option
# affects only functions that are compiled for AVX-512.
if(CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set(CMAKE_CXX_FLAGS_INIT -mevex512)
endif()

# Use the system's unwinder instead of zig's inside each library. Python ends threads by pthread_exit, which unwinds
# with the system's; two unwinders in one stack would crash.
execute_process(COMMAND gcc -print-file-name=libgcc_s.so.1 OUTPUT_VARIABLE unwinder OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY)
set(CMAKE_SHARED_LINKER_FLAGS_INIT ${unwinder})
set(CMAKE_MODULE_LINKER_FLAGS_INIT ${unwinder})
