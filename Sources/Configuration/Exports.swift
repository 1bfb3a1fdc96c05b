// Whoever reads settings gets a server's configuration, addresses and log formats from them.
@_exported public import SidelightServer
@_exported public import SidelightTelemetry
