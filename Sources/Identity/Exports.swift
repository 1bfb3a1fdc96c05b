// The interface contains scopes and principals of the server.
@_exported public import SidelightServer
