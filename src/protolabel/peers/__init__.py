"""Methods of other libraries under our contract, for comparison."""
