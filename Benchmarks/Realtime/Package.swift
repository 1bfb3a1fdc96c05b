// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "realtime",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "sidelight", path: "../.."),
    .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.3"),
    .package(url: "https://github.com/grpc/grpc-swift-nio-transport", from: "2.9.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
  ],
  targets: [
    .executableTarget(
      name: "realtime",
      dependencies: [
        .product(name: "SidelightClient", package: "sidelight"),
        .product(name: "GRPCCore", package: "grpc-swift-2"),
        .product(name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport"),
        .product(name: "NIOCore", package: "swift-nio"),
      ],
      path: "Sources")
  ]
)
