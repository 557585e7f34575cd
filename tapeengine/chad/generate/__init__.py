"""Stage 7: from a program without function values to Python with numpy, by way of the imperative form.

The primal is written first, with builds, maps, sums and reads as whole-array operations where they have such a form
(`lower`); the reverse pass is then written statement by statement with each operation's transposed derivative
(`reverse`, EC Fig. 6 and Fig. 8), and both are printed (`text`). What the reverse pass needs of the forward pass is
handed over as residuals: nothing is computed twice. The forward derivative is one function, in which each statement is
followed by its tangent's (`tangent`, CHAD 7.4).
"""

from tapeengine.chad.generate.compiled import Compiled, generate
from tapeengine.chad.generate.tangent_compiled import CompiledTangent
from tapeengine.chad.generate.values import NotGenerated

__all__ = ["Compiled", "CompiledTangent", "NotGenerated", "generate"]
