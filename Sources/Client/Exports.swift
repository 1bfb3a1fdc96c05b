// Whoever talks to a server names its addresses, frames and pipelines too.
@_exported public import SidelightKernels
@_exported public import SidelightWire
