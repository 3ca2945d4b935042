"""Compiles functions that only compiled ones call: to what LLVM links into them, and no further.

Numba optimizes every function, and makes machine code of it, on its own, and then once more in each
function that calls it; of a function that nobody calls from Python the first is thrown away. That
was most of what a first use took. Here such a function stays as it was written for LLVM, and is
optimized within those that are called from Python, once in each. And what a caller holds anyway is
not counted: kernels take tuples of dozens of arrays, and pass them on.

The classes follow numba's own (numba/core/codegen.py, numba/core/typed_passes.py), which have been
the same from 0.60 to 0.68. They are no public API: with any other numba ``late_compiler`` is None,
and functions are compiled as numba does, which takes longer and gives the same results.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from numba import version_info

MARK = "kanon_compiled"
"""The attribute of a function that says how it is compiled."""

KERNEL, INNER, SMALL = "kernel", "inner", "inlined"
"""See jit.py."""

_TRIED = ((0, 60), (0, 68))
"""The first and the last numba whose classes have been read and tried."""

_REPLACED = {
    "_optimize_functions", "_finalize_final_module",
    "_get_module_for_linking", "_raise_if_finalized", "add_linking_library", "finalize",
}
"""The methods of numba's library that are replaced or called."""

_LOWERED = {
    "init", "lower_assign", "_alloca_var", "loadvar", "storevar", "delvar", "typeof",
    "_find_singly_assigned_variable", "_disable_sroa_like_opt",
}
"""Those of its lowering."""

PARTS = ("getattr", "static_getitem", "exhaust_iter")
"""What an expression does that takes a tuple apart, or a part of it."""


@contextmanager
def _collector_off() -> Iterator[None]:
    """No garbage is looked for: the compiler makes millions of objects that stay until it is done,
    and to look through them again and again takes a fifth of its time."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _make_compiler() -> Any:
    """The compiler class that njit takes as pipeline_class; raises where numba is another."""
    import numba.core.codegen
    import numba.core.compiler
    import numba.core.compiler_machinery
    import numba.core.lowering
    import numba.core.runtime
    import numba.core.typed_passes
    from llvmlite import binding
    from llvmlite import ir as ll

    # as Any: numba tells few types of these
    core: Any = numba.core
    lowering = core.typed_passes.NativeLowering

    class CalledFromPython(core.codegen.JITCodeLibrary):  # type: ignore[misc]
        """A library that is optimized as a whole only, which comes to the same as its functions
        first."""

        def _optimize_functions(self, ll_module: Any) -> None:
            ll_module.data_layout = self._codegen._data_layout

    class CalledByCompiled(core.codegen.JITCodeLibrary):  # type: ignore[misc]
        """A library without machine code, but for the pointers to what errors need."""

        def add_linking_library(self, library: Any) -> None:
            # the runtime's own comes with whoever is called from Python
            if library is not core.runtime.rtsys.library:
                super().add_linking_library(library)

        def finalize(self) -> None:
            self._raise_if_finalized()
            whole: Any = self._final_module  # type: ignore[has-type]
            self._note_dynamic_globals(whole)
            for library in dict.fromkeys(self._linking_libraries):
                if hasattr(library, "_reload_init"):  # not in numba 0.60
                    self._reload_init.update(library._reload_init)
                self._dynamic_globals += library._dynamic_globals
                whole.link_in(library._get_module_for_linking(), preserve=True)
            for function in whole.functions:
                if not function.is_declaration and function.linkage == binding.Linkage.external:
                    # it will be in several libraries, and in none that has it inlined
                    function.linkage = "linkonce_odr"
            self._shared_module = whole
            pointers = self._codegen._create_empty_module(self.name)
            for variable in whole.global_variables:
                if variable.name.startswith("_ZN08NumbaEnv") and not variable.is_declaration:
                    pointer = ll.GlobalVariable(pointers, ll.IntType(8).as_pointer(), variable.name)
                    pointer.linkage = "common"
                    pointer.initializer = pointer.type.pointee(None)
            self._final_module = binding.parse_assembly(str(pointers))
            self._final_module.name = whole.name
            self._finalize_final_module()

        def _note_dynamic_globals(self, module: Any) -> None:
            """Notes addresses of this process that the code has, by which numba knows what it must
            not cache. Those that nothing uses would have been optimized away; dispatchers of the
            functions that are called leave such."""
            names = [
                variable.name for variable in module.global_variables
                if variable.name.startswith("numba.dynamic.globals")
            ]
            text = str(module) if names else ""
            # once where it is declared
            self._dynamic_globals += [name for name in names if text.count(name) > 1]

    class BorrowingLower(core.lowering.Lower):  # type: ignore[misc]
        """Counts no references to arguments, nor to the parts of tuples among them: who calls holds
        them until the function returns. To count them for each array of a tuple, wherever the tuple
        is named, would be most of what is written for LLVM."""

        def init(self) -> None:
            super().init()
            self._held: dict[str, Any] = {}
            self._borrowed: set[str] = set()
            if self.func_ir.func_id.is_generator or self._disable_sroa_like_opt:
                return
            assigned = [
                (label, inst) for label, block in sorted(self.blocks.items())
                for inst in block.find_insts(core.ir.Assign)
            ]
            times = Counter(inst.target.name for _, inst in assigned)
            first, local = assigned[0][0] if assigned else None, self._singly_assigned_vars
            for label, inst in assigned:
                name = inst.target.name
                # one value for all uses: the first block comes before all others
                if times[name] == 1 and (label == first or name in local) and self._lent(inst):
                    self._borrowed.add(name)

        def _lent(self, inst: Any) -> bool:
            """Whether what is assigned is an argument, or a part of one, as it is."""
            value, into = inst.value, self.typeof(inst.target.name)
            if isinstance(value, core.ir.Arg):
                return bool(self.typeof(f"arg.{value.name}") == into)
            if isinstance(value, core.ir.Var):
                return value.name in self._borrowed and bool(self.typeof(value.name) == into)
            if not isinstance(value, core.ir.Expr) or value.op not in PARTS:
                return False
            if value.value.name not in self._borrowed:
                return False
            whole = self.typeof(value.value.name)
            if not isinstance(whole, core.types.BaseTuple):
                return False
            if value.op == "exhaust_iter":
                return bool(whole == into)
            place = self._place(value, whole)
            return place is not None and bool(whole[place] == into)

        def _place(self, value: Any, whole: Any) -> int | None:
            """Where in a tuple a part is; None where it is none."""
            if value.op == "getattr":
                named = isinstance(whole, core.types.BaseNamedTuple) and value.attr in whole.fields
                return whole.fields.index(value.attr) if named else None
            known = isinstance(value.index, int) and 0 <= value.index < len(whole)
            return value.index if known else None

        def lower_assign(self, ty: Any, inst: Any) -> Any:
            if inst.target.name not in self._borrowed:
                return super().lower_assign(ty, inst)
            value = inst.value
            if isinstance(value, core.ir.Arg):
                return self.fnargs[value.index]
            if isinstance(value, core.ir.Var):
                return self.loadvar(value.name)
            whole = self.loadvar(value.value.name)
            if value.op == "exhaust_iter":
                return whole
            place = self._place(value, self.typeof(value.value.name))
            return self.builder.extract_value(whole, place)

        def _alloca_var(self, name: str, fetype: Any) -> None:
            if name not in self._borrowed:
                super()._alloca_var(name, fetype)

        def loadvar(self, name: str) -> Any:
            return self._held[name] if name in self._held else super().loadvar(name)

        def storevar(self, value: Any, name: str, argidx: Any = None) -> None:
            if name in self._borrowed:
                self._held[name] = value
            else:
                super().storevar(value, name, argidx)

        def delvar(self, name: str) -> None:
            if name not in self._borrowed:
                super().delvar(name)

    @core.compiler_machinery.register_pass(mutates_CFG=True, analysis_only=False)
    class LateLowering(core.typed_passes.NativeLowering):  # type: ignore[misc]
        """Lowers into a library of the right kind."""

        _name = "kanon_late_lowering"

        @property
        def lowering_class(self) -> Any:
            return BorrowingLower

        def run_pass(self, state: Any) -> Any:
            mark = getattr(state.func_id.func, MARK, INNER)
            state.flags.forceinline = mark == SMALL
            state.flags.no_cpython_wrapper = mark != KERNEL
            state.flags.release_gil = True
            kind = CalledFromPython if mark == KERNEL else CalledByCompiled
            state.library = kind(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
            return super().run_pass(state)

    class LateCompiler(core.compiler.CompilerBase):  # type: ignore[misc]
        """Numba's compiler but for the lowering and the garbage."""

        def define_pipelines(self) -> list[Any]:
            manager = core.compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
            manager.passes = [
                (LateLowering if step is lowering else step, about)
                for step, about in manager.passes
            ]
            manager.finalize()
            return [manager]

        def compile_extra(self, func: Any) -> Any:
            with _collector_off():
                return super().compile_extra(func)

    return LateCompiler


def _find_compiler() -> Any:
    if not _TRIED[0] <= version_info.short <= _TRIED[1]:
        return None
    try:
        from numba.core.codegen import JITCodeLibrary
        from numba.core.lowering import Lower

        compiler = _make_compiler()
    except (ImportError, AttributeError):
        return None
    names = set(JITCodeLibrary.__dict__)
    for base in JITCodeLibrary.__mro__:
        names |= set(base.__dict__)
    known = names.issuperset(_REPLACED) and all(hasattr(Lower, name) for name in _LOWERED)
    return compiler if known else None


late_compiler: Any = _find_compiler()
"""What njit takes as pipeline_class; None where this numba is unknown."""


def _load_without_blas() -> None:
    """Loads numba's functions of arrays without scipy's linear algebra, which nothing here needs
    and which takes a tenth of a second. Whoever multiplies matrices loads it then."""
    try:
        import numba.np.linalg

        # as Any: numba tells no types of these
        linalg: Any = numba.np.linalg
        needed = linalg.ensure_blas
    except (ImportError, AttributeError):
        return
    linalg.ensure_blas = lambda: None
    try:
        arrays: Any = import_module("numba.np.arraymath")
        if hasattr(arrays, "ensure_blas"):
            arrays.ensure_blas = needed
    finally:
        linalg.ensure_blas = needed


if late_compiler is not None:
    _load_without_blas()
