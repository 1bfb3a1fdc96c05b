// Whoever supervises servers names their addresses and configures them too.
@_exported public import SidelightServer
