// What the Relay compiler reads. In an application these tags stand in the components, and
// babel-plugin-relay turns each into an import of what was generated from it; without a bundler,
// main.ts imports that itself.
import { graphql } from "relay-runtime"

export const plan = graphql`
  query PlanQuery($from: Date!, $to: Date!) {
    team {
      name
      resources {
        id
        name
      }
      assignments(from: $from, to: $to) {
        id
        startDate
        endDate
      }
    }
    viewer {
      teams {
        name
        isCurrent
      }
    }
  }
`

export const addResource = graphql`
  mutation AddResourceMutation($input: CreateResourceInput!) {
    createResource(input: $input) {
      resource {
        id
        name
      }
      errors {
        code
        message
      }
    }
  }
`

export const addProject = graphql`
  mutation AddProjectMutation($input: CreateProjectInput!) {
    createProject(input: $input) {
      project {
        id
      }
      errors {
        code
        message
      }
    }
  }
`

export const assign = graphql`
  mutation AssignMutation($input: CreateAssignmentInput!) {
    createAssignment(input: $input) {
      assignment {
        id
        startDate
        endDate
      }
      errors {
        code
        message
      }
    }
  }
`

export const move = graphql`
  mutation MoveMutation($input: UpdateAssignmentInput!) {
    updateAssignment(input: $input) {
      assignment {
        id
        startDate
        endDate
      }
      errors {
        code
        message
      }
    }
  }
`

// `@deleteRecord` takes what was deleted out of the store: the person, and each assignment of
// theirs.
export const deleteResource = graphql`
  mutation DeleteResourceMutation($input: DeleteInput!) {
    deleteResource(input: $input) {
      deletedResourceId @deleteRecord
      deletedAssignmentIds @deleteRecord
      errors {
        code
        message
      }
    }
  }
`

export const deleteProject = graphql`
  mutation DeleteProjectMutation($input: DeleteInput!) {
    deleteProject(input: $input) {
      deletedProjectId @deleteRecord
      deletedAssignmentIds @deleteRecord
      errors {
        code
        message
      }
    }
  }
`
