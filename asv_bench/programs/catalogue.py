"""All benchmark programs by name."""

from types import MappingProxyType

from asv_bench.programs import (
    ba,
    gmm,
    gradbench,
    hand,
    linear,
    loops,
    lstm,
    many_outputs,
    network,
    network_arrays,
    particles,
    particles_arrays,
    products,
    quaternion,
    scalar_loop,
    tree,
)

PROGRAMS = MappingProxyType(
    {
        program.name: program
        for program in (
            scalar_loop.PROGRAM,
            linear.MULTIPLY,
            linear.DOT,
            linear.MATVEC,
            quaternion.PROGRAM,
            quaternion.CHAIN,
            network.PROGRAM,
            network.SOFTMAX,
            particles.PROGRAM,
            particles.FRICTION,
            tree.PROGRAM,
            many_outputs.PROGRAM,
            gradbench.DET,
            gradbench.ODE,
            gradbench.LLSQ,
            gradbench.LSE,
            gradbench.KMEANS,
            loops.READ,
            loops.WRITE,
            loops.UNROLLED,
            network_arrays.PROGRAM,
            particles_arrays.PROGRAM,
            products.MATVEC,
            products.MATMUL,
            gmm.PROGRAM,
            lstm.PROGRAM,
            ba.SUM,
            hand.PROGRAM,
            hand.COMPLICATED,
        )
    }
)
