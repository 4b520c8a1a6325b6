"""The Conan recipe of the library, from the clone that it lies in: `conan create packaging/conan --build=missing`."""

import re
from pathlib import Path

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy

ROOT = Path("..") / ".."
EXPORTED = ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*")


class Backslice(ConanFile):
    name = "backslice"
    description = "The backward pass of slicing: dense, sparse and ragged tensors and tensor arrays, for C and C++"
    license = "Apache-2.0"
    topics = ("autodiff", "gradient", "slice", "sparse-tensor", "ragged-tensor")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "cuda": [True, False], "tbb": [True, False]}
    default_options = {"shared": False, "fPIC": True, "cuda": False, "tbb": False}
    implements = ["auto_shared_fpic"]

    def set_version(self):
        header = (Path(self.recipe_folder) / ROOT / "include/backslice/version.h").read_text()
        self.version = re.search(r'BACKSLICE_VERSION "([^"]+)"', header)[1]

    def export_sources(self):
        for pattern in EXPORTED:
            copy(self, pattern, Path(self.recipe_folder) / ROOT, self.export_sources_folder)

    def requirements(self):
        self.requires("highway/[>=1.0.3]")
        if self.options.tbb:
            self.requires("onetbb/[>=2021]")

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["BACKSLICE_CUDA"] = bool(self.options.cuda)
        toolchain.cache_variables["BACKSLICE_EXECUTOR"] = "tbb" if self.options.tbb else "threads"
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, Path(self.package_folder) / "licenses")
        CMake(self).install()

    def package_info(self):
        # the package's own CMake files, which know its components
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [str(Path("lib") / "cmake" / "backslice")]
        self.cpp_info.libs = ["backslice"]
