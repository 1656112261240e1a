// Own text: URL loading, as far as the rooms use it.
// Source: public bindings (objc2, dotnet/macios) and Apple's documentation pages; first written 22 November 2026.
#pragma once
#pragma clang assume_nonnull begin
typedef NS_ENUM(NSUInteger, NSURLRequestCachePolicy) {
  NSURLRequestUseProtocolCachePolicy = 0, NSURLRequestReloadIgnoringLocalCacheData = 1, NSURLRequestReturnCacheDataElseLoad = 2,
} __attribute__((swift_name("NSURLRequest.CachePolicy")));
__attribute__((swift_bridge("Foundation.URLRequest")))
@interface NSURLRequest : NSObject <NSCopying>
@end
NS_SWIFT_SENDABLE __attribute__((swift_name("URLResponse")))
@interface NSURLResponse : NSObject <NSCopying>
@property (nullable, readonly, copy) NSURL *URL;
@property (readonly) long long expectedContentLength;
@property (nullable, readonly, copy) NSString *MIMEType;
@end
NS_SWIFT_SENDABLE __attribute__((swift_name("HTTPURLResponse")))
@interface NSHTTPURLResponse : NSURLResponse
- (nullable instancetype)initWithURL:(NSURL *)url statusCode:(NSInteger)statusCode HTTPVersion:(nullable NSString *)HTTPVersion headerFields:(nullable NSDictionary<NSString *, NSString *> *)headerFields;
@property (readonly) NSInteger statusCode;
@property (readonly, copy) NSDictionary *allHeaderFields;
- (nullable NSString *)valueForHTTPHeaderField:(NSString *)field AV(ios,introduced=13.0) AV(macos,introduced=10.15) AV(tvos,introduced=13.0);
@end
@class NSURLSession, NSURLSessionTask, NSURLSessionDataTask, NSURLSessionConfiguration, NSURLCache;
NS_SWIFT_SENDABLE __attribute__((swift_name("URLSessionDelegate")))
@protocol NSURLSessionDelegate <NSObject>
@optional
- (void)URLSession:(NSURLSession *)session didBecomeInvalidWithError:(nullable NSError *)error;
- (void)URLSessionDidFinishEventsForBackgroundURLSession:(NSURLSession *)session AV(ios,introduced=7.0) AV(macos,unavailable);
@end
NS_SWIFT_SENDABLE __attribute__((swift_name("URLSessionTaskDelegate")))
@protocol NSURLSessionTaskDelegate <NSURLSessionDelegate>
@optional
- (void)URLSession:(NSURLSession *)session task:(NSURLSessionTask *)task willPerformHTTPRedirection:(NSHTTPURLResponse *)response newRequest:(NSURLRequest *)request completionHandler:(void (NS_SWIFT_SENDABLE ^)(NSURLRequest * _Nullable))completionHandler;
- (void)URLSession:(NSURLSession *)session task:(NSURLSessionTask *)task needNewBodyStream:(void (NS_SWIFT_SENDABLE ^)(NSInputStream * _Nullable bodyStream))completionHandler;
- (void)URLSession:(NSURLSession *)session task:(NSURLSessionTask *)task didCompleteWithError:(nullable NSError *)error;
@end
typedef NS_ENUM(NSInteger, NSURLSessionResponseDisposition) {
  NSURLSessionResponseCancel = 0, NSURLSessionResponseAllow = 1, NSURLSessionResponseBecomeDownload = 2, NSURLSessionResponseBecomeStream = 3,
} __attribute__((swift_name("URLSession.ResponseDisposition")));
NS_SWIFT_SENDABLE __attribute__((swift_name("URLSessionDataDelegate")))
@protocol NSURLSessionDataDelegate <NSURLSessionTaskDelegate>
@optional
- (void)URLSession:(NSURLSession *)session dataTask:(NSURLSessionDataTask *)dataTask didReceiveResponse:(NSURLResponse *)response completionHandler:(void (NS_SWIFT_SENDABLE ^)(NSURLSessionResponseDisposition disposition))completionHandler;
- (void)URLSession:(NSURLSession *)session dataTask:(NSURLSessionDataTask *)dataTask didReceiveData:(NSData *)data;
@end
typedef NS_ENUM(NSUInteger, NSHTTPCookieAcceptPolicy) { NSHTTPCookieAcceptPolicyAlways, NSHTTPCookieAcceptPolicyNever, NSHTTPCookieAcceptPolicyOnlyFromMainDocumentDomain } __attribute__((swift_name("HTTPCookie.AcceptPolicy")));
NS_SWIFT_SENDABLE __attribute__((swift_name("HTTPCookie")))
@interface NSHTTPCookie : NSObject
@end
NS_SWIFT_SENDABLE __attribute__((swift_name("URLCache")))
@interface NSURLCache : NSObject
@end
NS_SWIFT_SENDABLE __attribute__((swift_name("URLAuthenticationChallenge")))
@interface NSURLAuthenticationChallenge : NSObject
@end
NS_SWIFT_SENDABLE __attribute__((swift_name("URLSessionConfiguration")))
@interface NSURLSessionConfiguration : NSObject <NSCopying>
@property (class, readonly, strong) NSURLSessionConfiguration *defaultSessionConfiguration NS_SWIFT_NAME(default);
@property (class, readonly, strong) NSURLSessionConfiguration *ephemeralSessionConfiguration NS_SWIFT_NAME(ephemeral);
+ (NSURLSessionConfiguration *)backgroundSessionConfigurationWithIdentifier:(NSString *)identifier NS_SWIFT_NAME(background(withIdentifier:));
@property BOOL HTTPShouldSetCookies;
@property NSHTTPCookieAcceptPolicy HTTPCookieAcceptPolicy;
@property (nullable, retain) NSURLCache *URLCache;
@property NSURLRequestCachePolicy requestCachePolicy;
@property (nullable, readonly, copy) NSString *identifier;
@property BOOL allowsCellularAccess;
@property (getter=isDiscretionary) BOOL discretionary;
@property NSInteger HTTPMaximumConnectionsPerHost;
@property NSTimeInterval timeoutIntervalForRequest;
@end
extern NSString * const NSURLErrorBackgroundTaskCancelledReasonKey AV(ios,introduced=8.0) AV(macos,introduced=10.10);
NS_SWIFT_SENDABLE __attribute__((swift_name("Progress")))
@interface NSProgress : NSObject
@property (readonly) double fractionCompleted;
@end
typedef NS_OPTIONS(NSUInteger, NSKeyValueObservingOptions) { NSKeyValueObservingOptionNew = 1, NSKeyValueObservingOptionOld = 2, NSKeyValueObservingOptionInitial = 4, NSKeyValueObservingOptionPrior = 8 };
typedef NS_ENUM(NSInteger, NSURLSessionTaskState) { NSURLSessionTaskStateRunning = 0, NSURLSessionTaskStateSuspended = 1, NSURLSessionTaskStateCanceling = 2, NSURLSessionTaskStateCompleted = 3 } __attribute__((swift_name("URLSessionTask.State")));
NS_SWIFT_SENDABLE __attribute__((swift_name("URLSessionTask")))
@interface NSURLSessionTask : NSObject <NSCopying>
@property (readonly) NSUInteger taskIdentifier;
@property (readonly, strong) NSProgress *progress AV(ios,introduced=11.0) AV(macos,introduced=10.13) AV(tvos,introduced=11.0);
@property (nullable, readonly, copy) NSURLRequest *originalRequest;
@property (nullable, readonly, copy) NSURLResponse *response;
@property (nullable, copy) NSString *taskDescription;
@property (readonly) NSURLSessionTaskState state;
@property (nullable, readonly, copy) NSError *error;
- (void)cancel;
- (void)suspend;
- (void)resume;
@end
NS_SWIFT_SENDABLE __attribute__((swift_name("URLSessionDataTask")))
@interface NSURLSessionDataTask : NSURLSessionTask
@end
NS_SWIFT_SENDABLE __attribute__((swift_name("URLSession")))
@interface NSURLSession : NSObject
@property (class, readonly, strong) NSURLSession *sharedSession NS_SWIFT_NAME(shared);
+ (NSURLSession *)sessionWithConfiguration:(NSURLSessionConfiguration *)configuration;
+ (NSURLSession *)sessionWithConfiguration:(NSURLSessionConfiguration *)configuration delegate:(nullable id <NSURLSessionDelegate>)delegate delegateQueue:(nullable NSOperationQueue *)queue;
@property (readonly, retain) NSOperationQueue *delegateQueue;
@property (nullable, readonly, retain) id <NSURLSessionDelegate> delegate;
- (void)getAllTasksWithCompletionHandler:(void (NS_SWIFT_SENDABLE ^)(NSArray<__kindof NSURLSessionTask *> *tasks))completionHandler AV(ios,introduced=9.0) AV(macos,introduced=10.11) AV(tvos,introduced=9.0);
- (void)finishTasksAndInvalidate;
- (void)invalidateAndCancel;
- (NSURLSessionDataTask *)dataTaskWithRequest:(NSURLRequest *)request;
@end
#pragma clang assume_nonnull end
