// Own text. Source: jwplayer/jwplayer-sdk-ios-demo, headers at 6060905, version 3.0.1: a C enum, and no nullability. Read 27 November 2026.
#import <Foundation/Foundation.h>
typedef enum { JWEncryptionFairPlay = 0 } JWEncryption;
@protocol JWDrmDataSource <NSObject>
- (void)fetchContentIdentifierForRequest:(NSURL *)loadingRequestURL forEncryption:(JWEncryption)encryption withCompletion:(void (^)(NSData *contentIdentifier))completion;
- (void)fetchAppIdentifierForRequest:(NSURL *)loadingRequestURL forEncryption:(JWEncryption)encryption withCompletion:(void (^)(NSData *appIdentifier))completion;
- (void)fetchContentKeyWithRequest:(NSData *)requestBytes forEncryption:(JWEncryption)encryption withCompletion:(void (^)(NSData *response, NSDate *renewalDate, NSString *contentType))completion;
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
