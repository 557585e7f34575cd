"""The working notes on automatic differentiation (WN), system by system.

`vectors`, `linear_maps` and `application` are Fig. 3 to 5, `families` section 2.7, `jacobian` Fig. 6, `tupling` Fig. 7
and 8, `fold` Fig. 12 to 15; `full` runs them. `categorical` is Fig. 9 to 11, `split_categorical` section 6.1.
`single_use` is the dialect of section 11, and the input of `to_procedure`. `procedure` is Fig. 20 to 22, `split`
Fig. 23; `gradient` runs them. `bog_forward`, `bog` and `bog_continuation` are Fig. 24 and 25, `primitives` Fig. 26,
`loops` Fig. 16 to 19; `bags` runs them. `steps` lists all systems, `costs` computes the numbers of the page.
"""
