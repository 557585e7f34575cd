"""Runs programs and their derivatives on Python values: values, reverse and forward passes, blocks of them, monoids."""
