"""Attacks on a release, with a control: what an attacker learns of people who are in it, beside
what the same attacker learns of people who aren't.

Source: Giomi, Boenisch, Wehmeyer and Tasnadi, A unified framework for quantifying privacy risk in
synthetic data, PoPETs 2023(2), for the three attacks of Opinion 05/2014 of the Article 29 Working
Party: singling out, linkability and inference.
"""
