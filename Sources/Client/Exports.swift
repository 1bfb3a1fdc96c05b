// Programs that import the client also use addresses, frames and pipelines.
@_exported public import SidelightKernels
@_exported public import SidelightWire
