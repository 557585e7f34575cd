# Functions that the transforms' sweeps share.
from tapeengine._core.sweeps.trace cimport Backpropagator, Seeds

cdef Seeds staged(Backpropagator back, tuple tangents, double *array)
