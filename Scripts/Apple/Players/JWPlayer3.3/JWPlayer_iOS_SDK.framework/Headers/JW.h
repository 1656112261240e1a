// Own text. Source: jwplayer/jwplayer-sdk-ios-demo, headers at 4283ac9, version 3.3.0: the identifier is optional, and asked for before iOS 11 alone; no nullability. Read 27 November 2026.
#import <Foundation/Foundation.h>
typedef NS_ENUM(NSInteger, JWEncryption) { JWEncryptionFairPlay = 0 };
@protocol JWDrmDataSource <NSObject>
- (void)fetchAppIdentifierForRequest:(NSURL *)loadingRequestURL forEncryption:(JWEncryption)encryption withCompletion:(void (^)(NSData *appIdentifier))completion;
- (void)fetchContentKeyWithRequest:(NSData *)requestBytes forEncryption:(JWEncryption)encryption withCompletion:(void (^)(NSData *response, NSDate *renewalDate, NSString *contentType))completion;
@optional
- (void)fetchContentIdentifierForRequest:(NSURL *)loadingRequestURL forEncryption:(JWEncryption)encryption withCompletion:(void (^)(NSData *contentIdentifier))completion __attribute__((deprecated));
@end
@interface JWConfig : NSObject
+ (instancetype)configWithContentURL:(NSString *)contentUrl;
@property (nonatomic, copy) NSString *file;
@property (nonatomic) BOOL autostart;
@end
@interface JWPlayerController : NSObject
- (instancetype)initWithConfig:(JWConfig *)config;
@property (nonatomic, weak) id<JWDrmDataSource> drmDataSource;
- (void)play;
- (void)stop;
@end
