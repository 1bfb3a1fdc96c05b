// The interface of the supervisor contains addresses and configurations of servers.
@_exported public import SidelightServer
