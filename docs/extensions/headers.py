"""The directive `{header} slice.h`: what a public header declares, as Breathe shows files, in the order of reading."""

from typing import Any

from breathe.directives.file import DoxygenFileDirective
from docutils import nodes
from sphinx import addnodes

SECTIONS = (
    "briefdescription detaileddescription define typedef enum innerclass innernamespace "
    "public-type public-static-attrib public-static-func public-func public-attrib func var"
)


class Header(DoxygenFileDirective):
    def run(self) -> Any:
        self.options["sections"] = SECTIONS
        return [inner for node in super().run() for inner in self.without_frame(node)]

    def without_frame(self, node: nodes.Node) -> list[nodes.Node]:
        """Return the declarations of a namespace, without the frame around them, which is the same on every page."""
        if isinstance(node, nodes.container) and any(is_namespace(child) for child in node.children):
            return [inner for child in node.children for inner in self.without_frame(child)]
        if not is_namespace(node):
            return [node]
        return [*self.anchor(node.children[0]["ids"]), *node.children[-1].children]

    def anchor(self, ids: list[str]) -> list[nodes.Node]:
        """Return the target of links to the namespace, once per page."""
        is_first = not self.env.temp_data.get("has_namespace")
        self.env.temp_data["has_namespace"] = True
        return [nodes.target("", "", ids=ids)] if is_first else []


def is_namespace(node: nodes.Node) -> bool:
    return isinstance(node, addnodes.desc) and node.astext().startswith("namespace ")


def setup(app: Any) -> dict[str, bool]:
    app.add_directive("header", Header)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
