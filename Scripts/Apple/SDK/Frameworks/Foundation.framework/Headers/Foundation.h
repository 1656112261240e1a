// Own text: the Objective-C half of Foundation, as far as the rooms use it.
// Source: public bindings (objc2, dotnet/macios) and Apple's documentation pages; first written 22 November 2026.
#pragma once
#import <NSObject.h>
#include <Darwin.h>
#import <Dispatch/Dispatch.h>
#pragma clang assume_nonnull begin
@class NSString, NSData, NSURL, NSDate, NSError, NSNumber, NSOperationQueue, NSURLRequest, NSURLResponse, NSHTTPURLResponse, NSInputStream, NSUUID;
typedef double NSTimeInterval;
typedef struct { NSUInteger location; NSUInteger length; } NSRange;
@protocol NSCopying
- (id)copyWithZone:(nullable NSZone *)zone;
@end
@protocol NSSecureCoding
@end
__attribute__((swift_bridge("Swift.String")))
@interface NSString : NSObject <NSCopying>
@property (readonly) NSUInteger length;
- (instancetype)initWithString:(NSString *)s;
@end
NS_SWIFT_SENDABLE
@interface NSValue : NSObject <NSCopying>
@end
__attribute__((swift_bridge("Foundation.Data")))
@interface NSData : NSObject <NSCopying>
@property (readonly) NSUInteger length;
@end
typedef NS_OPTIONS(NSUInteger, NSDataSearchOptions) { NSDataSearchBackwards = 1, NSDataSearchAnchored = 2 } __attribute__((swift_name("NSData.SearchOptions")));
__attribute__((swift_bridge("Foundation.URL"))) NS_SWIFT_SENDABLE
@interface NSURL : NSObject <NSCopying>
@property (nullable, readonly, copy) NSString *absoluteString;
@end
__attribute__((swift_bridge("Foundation.Date"))) NS_SWIFT_SENDABLE
@interface NSDate : NSObject <NSCopying>
@end
__attribute__((swift_bridge("Foundation.UUID"))) NS_SWIFT_SENDABLE
@interface NSUUID : NSObject <NSCopying>
@end
NS_SWIFT_SENDABLE
@interface NSNumber : NSValue
- (NSNumber *)initWithBool:(BOOL)value NS_DESIGNATED_INITIALIZER;
- (NSNumber *)initWithInteger:(NSInteger)value NS_DESIGNATED_INITIALIZER;
- (NSNumber *)initWithDouble:(double)value NS_DESIGNATED_INITIALIZER;
@property (readonly) BOOL boolValue;
@property (readonly) NSInteger integerValue NS_SWIFT_NAME(intValue);
@property (readonly) double doubleValue;
@property (readonly) const char *objCType __attribute__((objc_returns_inner_pointer));
@property (readonly, copy) NSString *stringValue;
@end
__attribute__((swift_bridge("Swift.Array")))
@interface NSArray<__covariant ObjectType> : NSObject <NSCopying>
@property (readonly) NSUInteger count;
@end
__attribute__((swift_bridge("Swift.Dictionary")))
@interface NSDictionary<__covariant KeyType, __covariant ObjectType> : NSObject <NSCopying>
@property (readonly) NSUInteger count;
@end
__attribute__((swift_bridge("Swift.Set")))
@interface NSSet<__covariant ObjectType> : NSObject <NSCopying>
@end
typedef NSString *NSErrorDomain;
typedef NSString *NSErrorUserInfoKey;
extern NSErrorDomain const NSCocoaErrorDomain;
extern NSErrorDomain const NSPOSIXErrorDomain;
extern NSErrorDomain const NSOSStatusErrorDomain;
extern NSString * const NSURLErrorDomain;
enum : NSInteger { NSURLErrorCancelled = -999 };
extern NSErrorUserInfoKey const NSUnderlyingErrorKey;
extern NSErrorUserInfoKey const NSFilePathErrorKey;
extern NSErrorUserInfoKey const NSMultipleUnderlyingErrorsKey AV(ios,introduced=14.5) AV(macos,introduced=11.3) AV(tvos,introduced=14.5);
extern NSErrorUserInfoKey const NSLocalizedDescriptionKey;
extern NSErrorUserInfoKey const NSLocalizedFailureReasonErrorKey;
extern NSErrorUserInfoKey const NSLocalizedRecoverySuggestionErrorKey;
extern NSErrorUserInfoKey const NSDebugDescriptionErrorKey;
NS_SWIFT_SENDABLE __attribute__((swift_bridge("Swift.Error")))
@interface NSError : NSObject <NSCopying>
- (instancetype)initWithDomain:(NSErrorDomain)domain code:(NSInteger)code userInfo:(nullable NSDictionary<NSErrorUserInfoKey, id> *)dict NS_DESIGNATED_INITIALIZER;
@property (readonly, copy) NSErrorDomain domain;
@property (readonly) NSInteger code;
@property (readonly, copy) NSDictionary<NSErrorUserInfoKey, id> *userInfo;
@property (readonly, copy) NSString *localizedDescription;
@property (nullable, readonly, copy) NSString *localizedFailureReason;
@property (nullable, readonly, copy) NSString *localizedRecoverySuggestion;
@end
@protocol NSLocking
- (void)lock;
- (void)unlock;
@end
NS_SWIFT_SENDABLE
@interface NSLock : NSObject <NSLocking>
- (BOOL)tryLock NS_SWIFT_NAME(try());
@end
NS_SWIFT_SENDABLE
@interface NSCondition : NSObject <NSLocking>
- (void)wait;
- (BOOL)waitUntilDate:(NSDate *)limit;
- (void)signal;
- (void)broadcast;
@end
__attribute__((swift_name("Thread")))
@interface NSThread : NSObject
@property (class, readonly) BOOL isMainThread;
+ (void)sleepForTimeInterval:(NSTimeInterval)ti;
+ (void)detachNewThreadWithBlock:(void (NS_SWIFT_SENDABLE ^)(void))block;
- (instancetype)initWithBlock:(void (NS_SWIFT_SENDABLE ^)(void))block;
@property (nullable, copy) NSString *name;
@property NSUInteger stackSize;
- (void)start;
@end
NS_SWIFT_SENDABLE __attribute__((swift_name("OperationQueue")))
@interface NSOperationQueue : NSObject
- (void)addOperationWithBlock:(void (NS_SWIFT_SENDABLE ^)(void))block;
@property (class, readonly, strong) NSOperationQueue *mainQueue NS_SWIFT_NAME(main);
@end
__attribute__((swift_name("InputStream")))
@interface NSInputStream : NSObject
@end
typedef NSString *NSNotificationName NS_TYPED_EXTENSIBLE_ENUM __attribute__((swift_name("NSNotification.Name")));
__attribute__((swift_bridge("Foundation.Notification")))
@interface NSNotification : NSObject <NSCopying>
@end
NS_SWIFT_SENDABLE __attribute__((swift_name("NotificationCenter")))
@interface NSNotificationCenter : NSObject
@property (class, readonly, strong) NSNotificationCenter *defaultCenter NS_SWIFT_NAME(default);
- (id<NSObject>)addObserverForName:(nullable NSNotificationName)name object:(nullable id)obj queue:(nullable NSOperationQueue *)queue usingBlock:(void (NS_SWIFT_SENDABLE ^)(NSNotification *notification))block;
- (void)removeObserver:(id)observer;
@end
#pragma clang assume_nonnull end
#import <Foundation/URLLoading.h>
#import <Foundation/Documents.h>
#import <Foundation/Predicates.h>
#import <Foundation/Preferences.h>
