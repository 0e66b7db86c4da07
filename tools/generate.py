"""Write the generated modules from the vocabulary: run it after changing a record.

python tools/generate.py            write src/twofold/tensors/generated/*.py
python tools/generate.py --check    fail if they are not what the records say
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from twofold.ir.dtypes import float32  # noqa: E402
from twofold.ir.op import NOT_DIFFERENTIABLE, REQUIRED, VOCABULARY, Joint, Op, Param  # noqa: E402
from twofold.ir.types import tensor_type  # noqa: E402
from twofold.ops.scalar import NUMPY_SPELLING, SCALAR_FUNCTIONS  # noqa: E402
from twofold.ops.vocabulary import load_vocabulary  # noqa: E402
from twofold.support.errors import DTypeError  # noqa: E402

TARGET = ROOT / "src" / "twofold" / "tensors" / "generated"
HEADER = '''"""Functions and backward nodes of the family "{family}". Generated from the records by tools/generate.py: do not edit."""
# ruff: noqa
# mypy: disable-error-code="no-any-return,no-untyped-call,assignment,misc,attr-defined,union-attr,override"

from __future__ import annotations

from collections.abc import Sequence
from sys import _getframe as _frame
from typing import Any

{numpy}
from twofold.ir.mode import MODE, grad_enabled
from twofold.ir.op import get_op, given_axis
from twofold.ir.types import scalar_type
from twofold.tape.node import tick
from twofold.tape.plan import scalar_key, table
from twofold.tensors.core import Tensor
from twofold.tensors.dispatch import NODE_CLASSES, dispatch
{inplace}from twofold.tensors.nodes import OpNode
from twofold.tensors.typing import DeviceLike, DTypeLike, Number

_PLAIN = frozenset((Tensor, bool, int, float))
_PLAIN_OR_NONE = _PLAIN | {{type(None)}}

'''


WITH_AXIS = frozenset((
    "all", "amax", "amin", "any", "argmax", "argmin", "argsort", "count_nonzero", "cumprod", "cumsum", "log_softmax", "logcumsumexp",
    "logsumexp", "mean", "nansum", "prod", "softmax", "sum",
))  # fmt: skip
EXACT = 1 << 53  # ints of this size are exact in float64


def rules_of(op: Op) -> list[Any]:
    """The gradient rules, one for each tensor input (a single one for a Joint)."""
    if isinstance(op.gradient, Joint):
        return [op.gradient.rule]
    return list(op.gradient)


def rule_params(rule: Any) -> list[str]:
    return [] if rule is NOT_DIFFERENTIABLE else list(inspect.signature(rule).parameters)


def output_names(op: Op) -> list[str]:
    outputs = op.signature.outputs
    return ["result"] if len(outputs) == 1 else [o.name for o in outputs]


def saved_names(op: Op) -> list[str]:
    """Inputs and outputs that some rule names, in the order of the signature."""
    wanted = {name for rule in rules_of(op) for name in rule_params(rule)}
    return [name for name in [*(p.name for p in op.inputs), *output_names(op)] if name in wanted]


def rule_argument(op: Op, name: str, inlined: bool) -> str:
    """The expression that a rule's parameter stands for, in `pull`."""
    if name == "g":
        return "g"
    if name.startswith("g_") and op.several:
        return f"g[{output_names(op).index(name[2:])}]"
    if name in saved_names(op):
        return f"self.s_{name}"
    if any(a.name == name for a in op.attributes):
        return f'self.plan.attributes["{name}"]'
    if name == "needs":
        return needs_text(op)
    base, _, what = name.rpartition("_")
    if what in ("shape", "dtype", "device"):
        if base == "result":
            return f"self.type.{what}"
        for i, p in enumerate(op.inputs):
            if p.name == base:
                if p.many:
                    return f"tuple(t.{what} for t in self.plan.ins[{i}])"
                return f"self.input_type({i}).{what}" if inlined else f"self.plan.ins[{i}].{what}"
    raise SystemExit(f"{op.name}: a gradient rule has the parameter {name!r}, which is no input, output, attribute or type of one")


def needs_text(op: Op) -> str:
    if not any(p.many for p in op.inputs):
        return "tuple(e is not None for e in self.edges)"
    return "self.needs_of_inputs()"


def node_class(op: Op, inlined: bool) -> str:
    """The text of the backward node class."""
    saved = saved_names(op)
    rules = rules_of(op)
    needs = tuple(tuple(n for n in rule_params(r) if n in saved) for r in rules)
    slots = ", ".join(f'"s_{n}"' for n in saved)
    lines = [
        f"class {op.node_name}(OpNode):",
        f"    __slots__ = ({slots}{',' if len(saved) == 1 else ''})",
        f'    op = get_op("{op.name}")',
        f"    saved = {tuple(saved)!r}",
        f"    needs = {needs!r}",
        "",
        "    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:",
    ]
    calls = [
        "None" if r is NOT_DIFFERENTIABLE else f"rules[{i}]({', '.join(rule_argument(op, n, inlined) for n in rule_params(r))})"
        for i, r in enumerate(rules)
    ]
    if isinstance(op.gradient, Joint):
        flat = any(p.many for p in op.inputs)
        lines.append(f"        return {f'self.flat({calls[0]})' if flat else calls[0]}")
    elif any(p.many for p in op.inputs):
        lines.append("        n = self.needs_of_inputs()")
        parts = ", ".join("None" if c == "None" else f"{c} if n[{i}] else None" for i, c in enumerate(calls))
        lines.append(f"        return self.flat(({parts},))")
    else:
        if len(calls) == 1:
            lines.append(f"        return ({calls[0]},)")
        else:
            lines.append("        e = self.edges")
            parts = ", ".join("None" if c == "None" else f"{c} if e[{i}] is not None else None" for i, c in enumerate(calls))
            lines.append(f"        return ({parts})")
    if saved:
        lines += ["", "    def free(self) -> None:", f"        del {', '.join(f'self.s_{n}' for n in saved)}"]
    lines += ["", "", f'NODE_CLASSES["{op.name}"] = {op.node_name}', "", ""]
    return "\n".join(lines)


def parameter_text(op: Op, p: Param) -> str:
    """One parameter of the generated function. An optional one defaults to None, unless a required one follows."""
    annotation = p.annotation()
    params = op.signature.params
    later = [q for q in params[params.index(p) + 1 :] if not q.keyword_only and q.default is REQUIRED and not q.optional]
    default = None if p.optional and p.default is REQUIRED and (p.keyword_only or not later) else p.default
    if default is REQUIRED and p.name == "dim" and not later and takes_axis(op):
        return f"{p.name}: {annotation} | None = None"
    if default is REQUIRED:
        return f"{p.name}: {annotation}"
    text = 'float("inf")' if default == float("inf") else repr(default)
    return f"{p.name}: {annotation} = {text}"


def takes_axis(op: Op) -> bool:
    """True for a reduction, scan or softmax that users call with `dim`: NumPy's `axis` and `keepdims` are accepted too, as by PyTorch."""
    return op.name in WITH_AXIS


def alias_lines(op: Op) -> list[str]:
    """What gives `dim` and `keepdim` the values of NumPy's names."""
    if not takes_axis(op):
        return []
    required = next(p for p in op.attributes if p.name == "dim").default is REQUIRED
    if required:
        lines = ["    if dim is None:", f'        dim = given_axis("{op.name}", axis)']
    else:
        lines = ["    if axis is not None:", "        dim = axis"]
    if any(p.name == "keepdim" for p in op.attributes):
        lines += ["    if keepdims is not None:", "        keepdim = keepdims"]
    return lines


def signature_text(op: Op) -> str:
    parts, keyword = [], False
    for p in op.signature.params:
        if p.keyword_only and not keyword:
            parts.append("*")
            keyword = True
        text = parameter_text(op, p)
        if p.is_tensor and not p.many and op.promotion is not None and len(op.inputs) > 1:
            text = text.replace(": Tensor", ": Tensor | Number", 1)
        parts.append(text)
    if takes_axis(op):
        parts += [] if keyword else ["*"]
        annotation = next(p for p in op.attributes if p.name == "dim").annotation().removesuffix(" | None")
        parts.append(f"axis: {annotation} | None = None")
        parts += ["keepdims: bool | None = None"] if any(p.name == "keepdim" for p in op.attributes) else []
    if op.several:
        result = "tuple[Tensor, ...]" if op.signature.variable_outputs else f"tuple[{', '.join(['Tensor'] * len(op.signature.outputs))}]"
    else:
        result = "Tensor"
    return f"def {op.name}({', '.join(parts)}) -> {result}:"


def docstring(op: Op) -> list[str]:
    text = op.doc or f"The operation {op.name}."
    lines = text.splitlines()
    if len(lines) == 1:
        return [f'    """{text}"""']
    return [f'    """{lines[0]}', *(f"    {line}".rstrip() for line in lines[1:]), '    """']


def dispatch_text(op: Op) -> str:
    inputs = "".join(f"{p.name}, " for p in op.inputs)
    attributes = ", ".join(f'"{p.name}": {p.name}' for p in op.attributes)
    return f"dispatch(_{op.name}, ({inputs.strip()}), {{{attributes}}})"


def inline_body(op: Op, names: dict[str, str]) -> str | None:
    """The body with operands renamed and scalar functions spelled as module globals; None where it cannot be inlined."""
    if not op.body or op.attributes or len(op.inputs) > 2 or op.promotion is None:
        return None
    if any(p.optional or p.many for p in op.inputs) or (op.name not in ALWAYS_INLINE and result_is_fixed(op)):
        return None
    for name in re.findall(r"[A-Za-z_]\w*", op.body):
        if name in SCALAR_FUNCTIONS and name not in NUMPY_SPELLING:
            return None
    return re.sub(r"[A-Za-z_]\w*", lambda m: names.get(m[0], f"_np_{m[0]}" if m[0] in SCALAR_FUNCTIONS else m[0]), op.body)


ALWAYS_INLINE: frozenset[str] = frozenset()


def result_is_fixed(op: Op) -> bool:
    """True if the output dtype is not that of float operands (comparisons)."""
    t = tensor_type(float32, (2,))
    try:
        return op.infer((t,) * len(op.inputs), {}) is not t
    except DTypeError:  # no operation on floats
        return True


def node_lines(op: Op, indent: str, arrays: dict[str, str], edges: list[str], plan: str, type_: str) -> list[str]:
    """The statements that make the node `n` of output `o`."""
    lines = [
        f"o._node = n = {op.node_name}()",
        "n.seq = tick()",
        f"n.edges = ({', '.join(edges)}{',' if len(edges) == 1 else ''})",
        f"n.plan = {plan}",
        f"n.type = {type_}",
        "n.hooks = None",
        "f = _frame(1)",
        "n.code = f.f_code",
        "n.lasti = f.f_lasti",
    ]
    rules = rules_of(op)
    for name in saved_names(op):
        value = arrays.get(name, "y")
        if isinstance(op.gradient, Joint) or len(op.inputs) == 1:
            lines.append(f"n.s_{name} = {value}")
            continue
        who = [edges[i] for i, r in enumerate(rules) if name in rule_params(r)]
        if len(who) == len(edges):
            lines.append(f"n.s_{name} = {value}")
        else:
            lines.append(f"n.s_{name} = {value} if {' or '.join(f'{e} is not None' for e in who)} else None")
    return [indent + line for line in lines]


def differentiable_edges(op: Op) -> list[int]:
    if op.gradient is NOT_DIFFERENTIABLE:
        return []
    if isinstance(op.gradient, Joint):
        return list(range(len(op.inputs)))
    return [i for i, r in enumerate(op.gradient) if r is not NOT_DIFFERENTIABLE]


def tail(op: Op, arrays: dict[str, str], edges: list[str], plan: str, type_: str, tracks: str) -> list[str]:
    """From the array `y` to the returned tensor."""
    lines = ["    o = Tensor()", f"    o._type = {type_}", "    o._array = y"]
    diff = differentiable_edges(op)
    if not diff:
        return [*lines, "    o._node = None", "    return o"]
    some = " or ".join(f"{edges[i]} is not None" for i in diff)
    if len(diff) > 1:
        some = f"({some})"
    return [
        *lines,
        f"    if {some}{tracks} and grad_enabled():",
        *node_lines(op, "        ", arrays, edges, plan, type_),
        "    else:",
        "        o._node = None",
        "    return o",
    ]


def inlined_function(op: Op, body_names: list[str]) -> str:
    """Elementwise, one or two operands: the expression itself for float operands of one type, a plan otherwise."""
    arrays = {p.name: f"a{i}" for i, p in enumerate(op.inputs)}
    body = inline_body(op, arrays)
    names = [p.name for p in op.inputs]
    lines = [signature_text(op), *docstring(op)]
    if len(names) == 1:
        x = names[0]
        lines += [
            f"    if MODE.special or type({x}) is not Tensor:",
            f"        return {dispatch_text(op)}",
            f"    t = {x}._type",
            f"    a0 = {x}._array",
            "    if t.fast:",
            "        p = None",
            f"        y = {body}",
            "    else:",
            f"        p = _{op.name}_plans.get(t) or _{op.name}_plans.make(t, (t,), {{}})",
            "        t = p.out",
            "        y = p.kernel(a0)",
            f"    e0 = {x}._node",
        ]
        edges, tracks = ["e0"], " and (p is None or p.tracks)"
    else:
        x, z = names
        lines += [
            "    if MODE.special:",
            f"        return {dispatch_text(op)}",
            f"    if type({x}) is Tensor:",
            f"        t = {x}._type",
            f"        a0 = {x}._array",
            f"        e0 = {x}._node",
            f"        if type({z}) is Tensor:",
            f"            a1 = {z}._array",
            f"            e1 = {z}._node",
            f"            if {z}._type is t and t.fast:",
            "                p = None",
            f"                y = {body}",
            "            else:",
            f"                k = (t, {z}._type)",
            f"                p = _{op.name}_plans.get(k) or _{op.name}_plans.make(k, k, {{}})",
            "                t = p.out",
            f"                y = {body} if p.inline else p.kernel(a0, a1)",
            f"        elif type({z}) is float and t.fast:",
            "            p = e1 = None",
            f"            a1 = {z}",
            f"            y = {body}",
            f"        elif type({z}) is int and t.fast and -{EXACT} <= {z} <= {EXACT}:",
            "            p = e1 = None",
            f"            a1 = float({z})",
            f"            y = {body}",
            "        else:",
            f"            return {dispatch_text(op)}",
            f"    elif type({x}) is float and type({z}) is Tensor and {z}._type.fast:",
            "        p = e0 = None",
            f"        a0 = {x}",
            f"        a1 = {z}._array",
            f"        e1 = {z}._node",
            f"        t = {z}._type",
            f"        y = {body}",
            "    else:",
            f"        return {dispatch_text(op)}",
        ]
        edges, tracks = ["e0", "e1"], " and (p is None or p.tracks)"
    lines += tail(op, arrays, edges, "p", "t", tracks)
    return "\n".join(lines) + "\n\n\n"


def attribute_key(p: Param) -> str:
    return f"scalar_key({p.name})" if p.kind in ("Scalar", "float", "any") else p.name


def planned_function(op: Op) -> str:
    """Any operation with one output that is no view and takes no list: one look-up of the plan."""
    guards, keys, ins, edges, arrays = [], [], [], [], {}
    lines = [signature_text(op), *docstring(op), *alias_lines(op)]
    numbers = [op.promotion is not None and i > 0 for i, _ in enumerate(op.inputs)]
    for i, p in enumerate(op.inputs):
        if numbers[i]:
            guards.append(f"type({p.name}) not in {'_PLAIN_OR_NONE' if p.optional else '_PLAIN'}")
        else:
            test = f"type({p.name}) is not Tensor"
            guards.append(f"({p.name} is not None and {test})" if p.optional else test)
    lines += [f"    if MODE.special or {' or '.join(guards)}:", f"        return {dispatch_text(op)}"]
    for i, p in enumerate(op.inputs):
        if numbers[i]:
            missing = f"None if {p.name} is None else " if p.optional else ""
            lines += [
                f"    if type({p.name}) is Tensor:",
                f"        t{i} = {p.name}._type",
                f"        a{i} = {p.name}._array",
                f"        e{i} = {p.name}._node",
                "    else:",
                f"        t{i} = {missing}scalar_type(type({p.name}))",
                f"        a{i} = {p.name}",
                f"        e{i} = None",
            ]
        elif p.optional:
            lines += [
                f"    if {p.name} is None:",
                f"        t{i} = a{i} = e{i} = None",
                "    else:",
                f"        t{i} = {p.name}._type",
                f"        a{i} = {p.name}._array",
                f"        e{i} = {p.name}._node",
            ]
        else:
            lines += [f"    t{i} = {p.name}._type", f"    a{i} = {p.name}._array", f"    e{i} = {p.name}._node"]
        ins.append(f"t{i}")
        edges.append(f"e{i}")
        arrays[p.name] = f"a{i}"
    keys = [*ins, *(attribute_key(p) for p in op.attributes)]
    attributes = ", ".join(f'"{p.name}": {p.name}' for p in op.attributes)
    key = f"({', '.join(keys)})" if len(keys) > 1 else keys[0]
    lines += [
        f"    k = {key}",
        "    try:",
        f"        p = _{op.name}_plans[k]",
        "    except (KeyError, TypeError):",
        f"        p = _{op.name}_plans.make(k, ({', '.join(ins)},), {{{attributes}}})",
        f"    y = p.kernel({', '.join(f'a{i}' for i in range(len(ins)))})",
        "    t = p.out",
    ]
    lines += tail(op, arrays, edges, "p", "t", " and p.tracks")
    return "\n".join(lines) + "\n\n\n"


def generic_function(op: Op) -> str:
    """Lists, several outputs, views, no tensor operand: the generic path."""
    return "\n".join([signature_text(op), *docstring(op), *alias_lines(op), f"    return {dispatch_text(op)}"]) + "\n\n\n"


def inplace_function(op: Op) -> str:
    """The form that writes its result into the first operand."""
    lines = [
        signature_text(op).replace(f"def {op.name}(", f"def {op.name}_(", 1).replace("input: Tensor | Number", "input: Tensor", 1),
        f'    """`{op.name}` whose result is written into the first operand, which is returned."""',
    ]
    lines += alias_lines(op)
    given = "".join(f", {p.name}" for p in op.inputs[1:]) + "".join(f", {p.name}={p.name}" for p in op.attributes)
    lines.append(f'    return inplace("{op.name}", {op.inputs[0].name}{given})')
    return "\n".join(lines) + "\n\n\n"


def kind_of_function(op: Op) -> str:
    if inline_body(op, {}) is not None:
        return "inlined"
    simple = not op.several and not op.is_view and not op.effect and op.inputs and not any(p.many for p in op.inputs) and not op.regions
    return "planned" if simple else "generic"


def family_module(family: str, ops: Iterable[Op]) -> str:
    """The text of one generated module."""
    parts, used, functions, writes = [], set(), [], []
    classes: set[str] = set()
    for op in ops:
        kind = kind_of_function(op)
        if kind == "inlined":
            used |= set(re.findall(r"[A-Za-z_]\w*", op.body)) & set(SCALAR_FUNCTIONS)
        parts.append(f'_{op.name} = get_op("{op.name}")\n')
        if kind != "generic":
            parts.append(f"_{op.name}_plans = table(_{op.name})\n")
        parts.append("\n\n")
        if op.is_differentiable:
            if op.node_name in classes:
                raise SystemExit(f"{op.name}: the family {family} has two records with the node name {op.node_name}")
            classes.add(op.node_name)
            parts.append(node_class(op, kind == "inlined"))
        if kind == "inlined":
            parts.append(inlined_function(op, []))
        elif kind == "planned":
            parts.append(planned_function(op))
        else:
            parts.append(generic_function(op))
        functions.append(op.name)
        if op.inplace:
            parts.append(inplace_function(op))
            writes.append(op.name + "_")
    numpy = "".join(f"from numpy import {NUMPY_SPELLING[n].removeprefix('np.')} as _np_{n}\n" for n in sorted(used))
    header = HEADER.format(family=family, numpy=numpy, inplace="from twofold.tensors.inplace import inplace\n" if writes else "")
    listed = "FUNCTIONS: dict[str, Any] = {\n" + "".join(f'    "{n}": {n},\n' for n in functions) + "}\n"
    listed += "INPLACE: dict[str, Any] = {\n" + "".join(f'    "{n}": {n},\n' for n in writes) + "}\n"
    return header + "\n".join(p for p in ["".join(parts).rstrip() + "\n\n", listed])


def all_modules() -> dict[str, str]:
    """Every generated file by name."""
    load_vocabulary()
    families: dict[str, list[Op]] = {}
    for op in VOCABULARY.values():
        if not op.regions:
            families.setdefault(op.family, []).append(op)
    modules = {f"{family}.py": family_module(family, ops) for family, ops in families.items()}
    listing = "".join(f'    "{family}",\n' for family in families)
    modules["__init__.py"] = f'"""Generated from the records: do not edit. FAMILIES names the modules."""\n\nFAMILIES = (\n{listing})\n'
    return modules


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare only")
    arguments = parser.parse_args()
    modules = all_modules()
    stale = [name for name, text in modules.items() if not (TARGET / name).exists() or (TARGET / name).read_text() != text]
    extra = [p.name for p in TARGET.glob("*.py") if p.name not in modules]
    if arguments.check:
        if stale or extra:
            print("not fresh:", ", ".join(stale + extra), "- run python tools/generate.py")
            return 1
        return 0
    TARGET.mkdir(parents=True, exist_ok=True)
    for name in stale:
        (TARGET / name).write_text(modules[name])
    for name in extra:
        (TARGET / name).unlink()
    print(f"{len(stale)} written, {len(modules) - len(stale)} unchanged")
    return 0


if __name__ == "__main__":
    sys.exit(main())
