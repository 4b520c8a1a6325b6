# The part of the library that runs on CUDA devices, and what stands in for it where that is off.
#
# Its kernels are an object library, so that whoever links backslice needs neither nvcc nor CMake's CUDA language. The runtime is
# linked statically; it loads the driver itself when it is first used, and says so where there is none.

# nvcc has GCC compile what runs on the host, whatever compiles the rest of the library, perhaps with another C++ library: so
# nothing of one passes between the two (kernels/cuda/launch.h).
option(BACKSLICE_CUDA "Build the kernels for CUDA devices (needs nvcc)" OFF)
set(BACKSLICE_CUDA_ARCHITECTURES "90" CACHE STRING "CUDA architectures to compile for, with PTX for later ones; see CMAKE_CUDA_ARCHITECTURES")

set(BACKSLICE_CUDA_RUNTIME src/kernels/cuda/memory.cc src/kernels/cuda/runtime.cc src/kernels/cuda/stream_release.cc
  src/kernels/cuda/tables.cc
  src/kernels/concat/cuda.cc src/kernels/slice/cuda.cc src/kernels/sparse/cuda.cc src/kernels/tiles/cuda.cc)
set(BACKSLICE_CUDA_KERNELS src/kernels/cuda/table_pages.cu src/kernels/slice/cuda_kernels.cu src/kernels/tiles/cuda_kernels.cu
  src/kernels/concat/cuda_add.cu src/kernels/concat/cuda_copy.cu
  src/kernels/sparse/cuda_add.cu src/kernels/sparse/cuda_find.cu src/kernels/sparse/cuda_join.cu
  src/kernels/sparse/cuda_move.cu src/kernels/sparse/cuda_walk.cu)

# 554 is a conversion to itself.
set(BACKSLICE_CUDA_OPTIONS -std=c++20 --expt-relaxed-constexpr -diag-suppress=554 $<$<BOOL:${BACKSLICE_WERROR}>:-Werror=all-warnings>)

if(BACKSLICE_CUDA)
  if(CCACHE_PROGRAM AND PROJECT_IS_TOP_LEVEL)
    # What the environment of a build with zig says is of its compiler alone.
    set(CMAKE_CUDA_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env --unset=CCACHE_COMPILERTYPE --unset=CCACHE_COMPILERCHECK ${CCACHE_PROGRAM})
  endif()
  set(CMAKE_CUDA_ARCHITECTURES ${BACKSLICE_CUDA_ARCHITECTURES})
  enable_language(CUDA)
  # What links the kernels' objects is a C++ compiler with its own libraries, and not nvcc with those of GCC. It is given the
  # runtime by name.
  set(CMAKE_CUDA_RUNTIME_LIBRARY None)
  set(CMAKE_CUDA_IMPLICIT_LINK_LIBRARIES "")
  set(CMAKE_CUDA_IMPLICIT_LINK_DIRECTORIES "")
  find_package(CUDAToolkit REQUIRED)
endif()

# Adds to a target what runs on CUDA devices, or the stub.
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
  # Two libraries in one process may each have a runtime; neither must see the other's symbols. symbols.map hides those of a
  # shared library; where this library is static, whoever links it hides them. (zig's linker has no such option.)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    target_link_options(${target} INTERFACE -Wl,--exclude-libs,libcudart_static.a)
  endif()
endfunction()
