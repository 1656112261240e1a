@_exported public import Dispatch
@_exported public import Foundation
@_exported public import FoundationNetworking

/// The name of a queue in Apple's headers.
public typealias dispatch_queue_t = DispatchQueue
