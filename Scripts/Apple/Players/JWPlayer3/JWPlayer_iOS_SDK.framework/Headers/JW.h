// Own text. Source: the vendor's reference pages, as `Documentation/Players.md` cites them; first written 22 November 2026.
#import <Foundation/Foundation.h>
typedef NS_ENUM(NSInteger, JWEncryption) { JWEncryptionFairPlay = 0 };
#pragma clang assume_nonnull begin
@protocol JWDrmDataSource <NSObject>
- (void)fetchContentIdentifierForRequest:(NSURL *)loadingRequestURL forEncryption:(JWEncryption)encryption withCompletion:(void (^)(NSData *contentIdentifier))completion;
- (void)fetchAppIdentifierForRequest:(NSURL *)loadingRequestURL forEncryption:(JWEncryption)encryption withCompletion:(void (^)(NSData *appIdentifier))completion;
- (void)fetchContentKeyWithRequest:(NSData *)requestBytes forEncryption:(JWEncryption)encryption withCompletion:(void (^)(NSData *response, NSDate *_Nullable renewalDate, NSString *_Nullable contentType))completion;
@end
// Source: the same headers' page of the controller, read 27 November 2026.
@interface JWConfig : NSObject
+ (instancetype)configWithContentURL:(NSString *)contentUrl;
@property (nonatomic, copy, nullable) NSString *file;
@property (nonatomic) BOOL autostart;
@end
@interface JWPlayerController : NSObject
- (nullable instancetype)initWithConfig:(JWConfig *)config;
@property (nonatomic, weak, nullable) id<JWDrmDataSource> drmDataSource;
- (void)play;
- (void)stop;
@end
#pragma clang assume_nonnull end
