// Settings produce a server's configuration, addresses and log formats.
@_exported public import SidelightServer
@_exported public import SidelightTelemetry
