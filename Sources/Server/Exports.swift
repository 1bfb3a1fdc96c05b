// Whoever embeds a server names its addresses, frames and filters too.
@_exported public import SidelightKernels
@_exported public import SidelightWire
