# The part of the library that runs on CUDA devices, and the stub that replaces it in other builds.
#
# Its kernels are an object library, so programs that link backslice need neither nvcc nor CMake's CUDA language. The
# runtime is linked statically. It loads the driver on first use, and reports an error if there is none.

# nvcc compiles host code with GCC. The rest of the library may use another compiler and another C++ library. So no C++
# types pass between the two (kernels/cuda/launch.h).
option(BACKSLICE_CUDA "Build the kernels for CUDA devices (needs nvcc)" OFF)
set(BACKSLICE_CUDA_ARCHITECTURES "90" CACHE STRING "CUDA architectures to compile for, with PTX for later ones; see CMAKE_CUDA_ARCHITECTURES")

set(BACKSLICE_CUDA_COMPONENT "")  # of find_package(backslice)
if(BACKSLICE_CUDA)
  set(BACKSLICE_CUDA_COMPONENT " CUDA")
endif()

set(BACKSLICE_CUDA_RUNTIME src/kernels/cuda/memory.cc src/kernels/cuda/runtime.cc src/kernels/cuda/stream_release.cc
  src/kernels/concat/cuda.cc src/kernels/slice/cuda.cc src/kernels/sparse/cuda.cc src/kernels/tiles/cuda.cc)
set(BACKSLICE_CUDA_KERNELS src/kernels/cuda/table_pages.cu src/kernels/slice/cuda_kernels.cu src/kernels/tiles/cuda_kernels.cu
  src/kernels/concat/cuda_kernels.cu src/kernels/sparse/cuda_kernels.cu src/kernels/sparse/cuda_join.cu)

# 554 is the warning about a conversion to itself.
set(BACKSLICE_CUDA_OPTIONS -std=c++20 --expt-relaxed-constexpr -diag-suppress=554 $<$<BOOL:${BACKSLICE_WERROR}>:-Werror=all-warnings>)

if(BACKSLICE_CUDA)
  if(CCACHE_PROGRAM AND PROJECT_IS_TOP_LEVEL)
    # In a build with zig, the environment describes only zig.
    set(CMAKE_CUDA_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env --unset=CCACHE_COMPILERTYPE --unset=CCACHE_COMPILERCHECK ${CCACHE_PROGRAM})
  endif()
  set(CMAKE_CUDA_ARCHITECTURES ${BACKSLICE_CUDA_ARCHITECTURES})
  enable_language(CUDA)
  # A C++ compiler with its own libraries links the kernels' objects, not nvcc with GCC's libraries. It gets the runtime
  # by name.
  set(CMAKE_CUDA_RUNTIME_LIBRARY None)
  set(CMAKE_CUDA_IMPLICIT_LINK_LIBRARIES "")
  set(CMAKE_CUDA_IMPLICIT_LINK_DIRECTORIES "")
  find_package(CUDAToolkit REQUIRED)
endif()

# Adds the CUDA code to a target, or the stub.
function(backslice_add_cuda target)
  if(NOT BACKSLICE_CUDA)
    target_sources(${target} PRIVATE ${BACKSLICE_CUDA_STUBS})
    return()
  endif()
  target_sources(${target} PRIVATE ${BACKSLICE_CUDA_RUNTIME})
  target_link_libraries(${target} PRIVATE CUDA::cudart_static)
  if(BACKSLICE_CUDA_KERNELS)
    add_library(backslice_cuda OBJECT ${BACKSLICE_CUDA_KERNELS})
    target_include_directories(backslice_cuda PRIVATE include src)
    target_compile_options(backslice_cuda PRIVATE ${BACKSLICE_CUDA_OPTIONS})
    set_target_properties(backslice_cuda PROPERTIES POSITION_INDEPENDENT_CODE ON CUDA_VISIBILITY_PRESET hidden
      VISIBILITY_INLINES_HIDDEN ON)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:backslice_cuda>)
  endif()
  # Two libraries in one process may each have a runtime, and must not see each other's symbols. symbols.map hides the
  # symbols of a shared library. Programs that link the static library must hide them. (zig's linker has no such
  # option.)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    target_link_options(${target} INTERFACE -Wl,--exclude-libs,libcudart_static.a)
  endif()
endfunction()
