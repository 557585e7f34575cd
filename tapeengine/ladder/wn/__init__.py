"""The working notes on automatic differentiation (WN), system by system.

`vectors` and `linear_maps` are Fig. 3 to 5, `jacobian` Fig. 6, `tupling` Fig. 7 and 8; `full` runs them.
`categorical` is Fig. 9 to 11, `split_categorical` section 6.1. `procedure` is Fig. 20 to 22, `to_procedure` brings
terms there, `split` is Fig. 23; `gradient` runs them. `costs` has the figures of the page.
"""
