# What the transforms' sweeps have in common.
from tapeengine._core.sweeps.trace cimport Backpropagator, Seeds

cdef Seeds staged(Backpropagator back, tuple tangents, double *array)
