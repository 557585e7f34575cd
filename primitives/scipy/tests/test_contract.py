def test_contract(primitive_contract):
    primitive_contract()
