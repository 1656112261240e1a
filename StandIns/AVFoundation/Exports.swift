@_exported public import Dispatch
@_exported public import Foundation
@_exported public import FoundationNetworking

/// The name that Apple's headers have for a queue.
public typealias dispatch_queue_t = DispatchQueue
