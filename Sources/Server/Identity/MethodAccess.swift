import GRPCCore

/// What a method asks of its caller.
package enum MethodAccess: Sendable, Hashable {
  /// Nothing: whoever watches over a server has no credentials.
  case everybody
  /// One of these scopes.
  case anyOf(Set<Scope>)

  /// What a method of a server asks of its caller. One that is not in the table asks for
  /// ``Scope/operate``: what somebody forgot is closed.
  ///
  /// - Parameters:
  ///   - service: Its full name.
  ///   - method: Its name.
  package init(service: String, method: String) {
    self =
      switch (service, method) {
      case ("grpc.health.v1.Health", _): .everybody
      case ("sidelight.v1.FrameFilter", "Process"),
        ("sidelight.v1.FrameFilter", "Apply"),
        ("sidelight.v1.FrameFilter", "CheckPipeline"):
        .anyOf([.stream])
      // What a server is and can do concerns whoever may do anything with it.
      case ("sidelight.v1.FrameFilter", "ListFilters"),
        ("sidelight.v1.FrameFilter", "DescribeFilter"),
        ("sidelight.v1.FrameFilter", "GetServerInfo"):
        .anyOf(.all)
      case ("sidelight.v1.Assets", _): .anyOf([.assets])
      case ("sidelight.v1.Sessions", _): .anyOf([.operate])
      case ("grpc.reflection.v1.ServerReflection", _),
        ("grpc.reflection.v1alpha.ServerReflection", _):
        .anyOf([.introspect])
      default: .anyOf([.operate])
      }
  }

  init(_ method: MethodDescriptor) {
    self.init(service: method.service.fullyQualifiedService, method: method.method)
  }
}
