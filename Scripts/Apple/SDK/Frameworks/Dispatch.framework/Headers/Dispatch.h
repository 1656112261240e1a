// Own text. Source: public bindings (objc2, dotnet/macios) and Apple's documentation pages; first written 22 November 2026.
#pragma once
#import <NSObject.h>
__attribute__((swift_name("DispatchObject"))) NS_SWIFT_SENDABLE
@interface OS_object_dispatch : NSObject
@end
__attribute__((swift_name("DispatchQueue"))) NS_SWIFT_SENDABLE
@interface OS_dispatch_queue : OS_object_dispatch
@end
typedef OS_dispatch_queue *dispatch_queue_t;
__attribute__((swift_name("DispatchSemaphore"))) NS_SWIFT_SENDABLE
@interface OS_dispatch_semaphore : OS_object_dispatch
@end
