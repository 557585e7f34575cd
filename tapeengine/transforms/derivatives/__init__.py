"""Gradients, tangents, linear maps, Jacobians and Hessians, made of vjp and jvp."""
