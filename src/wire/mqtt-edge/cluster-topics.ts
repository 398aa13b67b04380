/** Each part of the name of a job: application, its namespace, service, its namespace. */
const JOB_NAME = /^[A-Za-z0-9]{1,30}(?:\.[A-Za-z0-9]{1,30}){3}$/;
const UPDATES = "updates_available";

export const NODE_ID: RegExp = /^[A-Za-z0-9._:-]{1,128}$/;

export function isJobName(text: string): boolean {
  return JOB_NAME.test(text);
}

/** The topics between a node and the service manager of its cluster. */
export interface NodeTopics {
  readonly subnet: string;
  readonly subnetResult: string;
  readonly tableQuery: string;
  readonly tableResult: string;
  readonly deployed: string;
  readonly undeployed: string;
  readonly addressChanged: string;
  readonly interestRemoved: string;
}

/** @param id as `NODE_ID` has it: nothing of it is special in a topic */
export function nodeTopics(id: string): NodeTopics {
  const base = `nodes/${id}/net`;
  return {
    subnet: `${base}/subnet`,
    subnetResult: `${base}/subnetwork/result`,
    tableQuery: `${base}/tablequery/request`,
    tableResult: `${base}/tablequery/result`,
    deployed: `${base}/service/deployed`,
    undeployed: `${base}/service/undeployed`,
    addressChanged: `${base}/service/address-changed`,
    interestRemoved: `${base}/interest/remove`,
  };
}

/** Where it is said that the instances of a job changed. */
export function updatesTopic(jobName: string): string {
  return `jobs/${jobName}/${UPDATES}`;
}

/** The job whose updates a topic is of. */
export function jobOfTopic(topic: string): string | undefined {
  const [root, job, what, ...rest] = topic.split("/");
  const isOne = root === "jobs" && what === UPDATES && rest.length === 0;
  return isOne && job !== undefined && isJobName(job) ? job : undefined;
}
