"""The language of programs: its terms and types, those of derivative programs, and what all passes do with them."""
