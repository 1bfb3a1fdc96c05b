// A program that embeds a server also uses the types of addresses, frames and filters.
@_exported public import SidelightKernels
@_exported public import SidelightWire
