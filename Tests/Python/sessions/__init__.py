"""Sessions, frames and errors of the contract."""
