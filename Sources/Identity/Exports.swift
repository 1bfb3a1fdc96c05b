// Whoever asks for tokens names scopes and principals too.
@_exported public import SidelightServer
