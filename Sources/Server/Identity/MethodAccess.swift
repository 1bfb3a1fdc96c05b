import GRPCCore

/// The scopes required by a method.
package enum MethodAccess: Sendable, Hashable {
  /// Any caller: monitoring lacks credentials.
  case unrestricted
  /// One of these scopes.
  case anyOf(Set<Scope>)

  /// Looks up the scopes of a method. A method that is missing from the table requires
  /// ``Scope/operate``: a forgotten method is not open.
  ///
  /// - Parameters:
  ///   - service: The full name of the service.
  ///   - method: The name of the method.
  package init(service: String, method: String) {
    self =
      switch (service, method) {
      case ("grpc.health.v1.Health", _), ("xds.service.orca.v3.OpenRcaService", _): .unrestricted
      case ("sidelight.v1.FrameFilter", "Process"),
        ("sidelight.v1.FrameFilter", "Apply"),
        ("sidelight.v1.FrameFilter", "CheckPipeline"),
        ("sidelight.v1.FrameFilter", "Place"):
        .anyOf([.stream])
      // Every scope permits reading the capabilities of the server.
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
