const INPUT_TYPE = "--input-type";

/**
 * What a thread that runs a file takes over of how its process was started. One that runs a text (`node -e`, or a
 * program on stdin) may say of which type the text is; a file has its own, and Node refuses to be told.
 */
export function workerArguments(execArgv: readonly string[]): string[] {
  return execArgv.filter((argument, index) => {
    const isValue = execArgv[index - 1] === INPUT_TYPE;
    return !isValue && argument !== INPUT_TYPE && !argument.startsWith(`${INPUT_TYPE}=`);
  });
}
