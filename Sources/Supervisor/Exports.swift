// `WorkerEnd` and `Supervisor` name what the server's module declares.
@_exported public import SidelightServer
